// Takes the code of a one-time link from behind the #, and removes it from the address bar and the history.
"use strict";

const form = document.querySelector("[data-one-time-code]");
const code = decodeURIComponent(location.hash.slice(1));
if (form && code) {
  form.elements.code.value = code;
  form.elements.code.closest(".field").hidden = true;
  history.replaceState(null, "", location.pathname);
  if (form.dataset.oneTimeCode === "send") form.submit();
}
