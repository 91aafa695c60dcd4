// The checkout: the countdown, the first mistake in focus, and a form that is sent once.
import { watchConnection } from "./connection.js";
import { countDown } from "./countdown.js";
import { keepTyped } from "./typed.js";

const lost = document.querySelector("[data-lost]");
if (lost) watchConnection(lost);

for (const element of document.querySelectorAll(".countdown")) {
  countDown(element, () => {
    for (const button of document.querySelectorAll(".buyer button")) button.disabled = true;
  });
}

const form = document.querySelector(".buyer[method=post]");
form?.addEventListener("submit", (event) => {
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = "yes";
  form.querySelector("button.strong")?.setAttribute("aria-disabled", "true");
});
// As which type a seat is bought changes the total: it is shown at once.
form?.addEventListener("change", (event) => {
  if (event.target.matches("select[name^=seat-]")) form.querySelector("button[name=update]").click();
});
addEventListener("pageshow", () => delete form?.dataset.sent);
(document.querySelector("[aria-invalid=true]") ?? document.querySelector("#problem"))?.focus();

// On a phone the summary is folded, and its sum stays in sight. On large screens it stands open, in browsers that cannot do so by style, too.
const summary = document.querySelector(".summary-fold");
const wide = matchMedia("(min-width: 60rem)");
const fold = () => summary?.toggleAttribute("open", wide.matches);
wide.addEventListener("change", fold);
if (wide.matches) fold();

if (form) keepTyped([form.elements.name, form.elements.email]);
