// Recomputes a draw beside the page, which stays usable meanwhile: a million entries take some seconds.

import { verify } from "../verify-draw.js";

addEventListener("message", ({ data: { text, receipt } }) => {
  try {
    postMessage(verify(text, receipt));
  } catch (problem) {
    postMessage({ wrong: problem.message });
  }
});
