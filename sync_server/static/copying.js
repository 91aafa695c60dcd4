// Buttons that copy what stands in another element; where the browser cannot, it is selected with one click instead.
"use strict";

for (const button of navigator.clipboard ? document.querySelectorAll("[data-copy]") : []) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.nextElementSibling.textContent = button.dataset.copied;
  });
}
