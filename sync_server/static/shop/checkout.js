// The checkout: the countdown, the first mistake in focus, and a form that is sent once.
import { watchConnection } from "./connection.js";
import { countDown } from "./countdown.js";

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

// On a phone the summary is folded; its sum stays in sight.
const summary = document.querySelector(".summary-fold");
const narrow = matchMedia("(max-width: 59.99rem)");
const fold = () => summary?.toggleAttribute("open", !narrow.matches);
narrow.addEventListener("change", fold);
fold();
