// Adds buttons for less and more beside each number of tickets, and shows what they cost in all.
import { watchConnection } from "./connection.js";

const form = document.querySelector(".ticket-form");
const lost = document.querySelector("[data-lost]");
if (lost) watchConnection(lost);

function button(text, label, change) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "step";
  made.textContent = text;
  made.setAttribute("aria-label", label);
  made.addEventListener("click", change);
  return made;
}

function addSteps(stepper, changed) {
  const input = stepper.querySelector("input");
  const step = (by) => () => {
    const value = Math.min(Number(input.max), Math.max(0, (Number(input.value) || 0) + by));
    input.value = String(value);
    changed();
  };
  const less = button("−", stepper.dataset.less, step(-1));
  const more = button("+", stepper.dataset.more, step(1));
  input.before(less);
  input.after(more);
  const days = [...stepper.parentElement.querySelectorAll(".type-days input")];
  const most = Number(input.max);
  return () => {
    const left = days.filter((day) => day.checked).map((day) => Number(day.dataset.left));
    input.max = String(Math.min(most, ...left));
    less.disabled = !(Number(input.value) > 0);
    more.disabled = Number(input.value) >= Number(input.max);
  };
}

function showSum(inputs) {
  const sum = form.querySelector("[data-sum]");
  if (!sum) return;
  const chosen = inputs.filter((input) => Number(input.value) > 0);
  const cents = chosen.reduce((total, input) => total + Number(input.value) * Number(input.dataset.cents), 0);
  const format = new Intl.NumberFormat(form.dataset.locale, { style: "currency", currency: form.dataset.currency });
  sum.hidden = chosen.length === 0;
  // Where there are seats, too: one strong button at a time.
  const places = form.querySelector("[data-places]");
  if (places) {
    places.hidden = chosen.length === 0;
    places.classList.toggle("strong", chosen.length > 0);
    form.querySelector("[data-seats]").hidden = chosen.length > 0;
  }
  sum.querySelector("output").textContent = format.format(cents / 100);
}

if (form) {
  const inputs = [...form.querySelectorAll("[data-stepper] input")];
  const updates = [];
  const changed = () => {
    updates.forEach((update) => update());
    showSum(inputs);
  };
  for (const stepper of form.querySelectorAll("[data-stepper]")) updates.push(addSteps(stepper, changed));
  inputs.forEach((input) => input.addEventListener("input", changed));
  form.querySelectorAll(".type-days input").forEach((day) => day.addEventListener("change", changed));
  changed();
}
