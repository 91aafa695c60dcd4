// Downloads with progress: counts the rows that have arrived, and hands the file over once it is whole.
"use strict";

const NEWLINE = 10;
const numbers = new Intl.NumberFormat(document.documentElement.lang);

function report(place, rows, total) {
  const bar = place.querySelector("progress");
  if (total) {
    bar.max = total;
    bar.value = Math.min(rows, total);
  }
  place.querySelector("span").textContent = rows ? place.dataset.reading.replace("{n}", numbers.format(rows)) : "";
}

async function pieces(link, place) {
  const response = await fetch(link.href);
  if (!response.ok) throw new Error((await response.json()).detail);
  const isText = response.headers.get("Content-Type").startsWith("text/csv");
  const reader = response.body.getReader();
  const found = [];
  let rows = -1; // the first line has the names of the columns
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    found.push(next.value);
    if (isText) for (const byte of next.value) rows += byte === NEWLINE;
    report(place, Math.max(0, rows), Number(link.dataset.rows));
  }
  return new Blob(found, { type: response.headers.get("Content-Type") });
}

function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

async function download(link) {
  const place = link.closest("li").querySelector("[data-progress]");
  const words = place.querySelector("span");
  place.hidden = false;
  place.querySelector("progress").removeAttribute("value");
  link.setAttribute("aria-disabled", "true");
  try {
    save(await pieces(link, place), link.dataset.export);
    place.querySelector("progress").value = place.querySelector("progress").max;
    words.textContent = place.dataset.done;
  } catch (error) {
    words.textContent = `${place.dataset.failed} ${error.message}`;
  }
  link.removeAttribute("aria-disabled");
}

for (const link of document.querySelectorAll("[data-export]")) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    if (link.getAttribute("aria-disabled") !== "true") download(link);
  });
}
