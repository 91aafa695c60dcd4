// Making a passkey, and signing in with one: what the browser asks its owner, between two requests to this server.
// Forms of a shop name where its customers do so (data-base); all others are those of staff.
"use strict";

async function send(address, body, csrf) {
  const headers = { "Content-Type": "application/json", ...(csrf ? { "X-CSRF-Token": csrf } : {}) };
  const response = await fetch(address, { method: "POST", headers, body: JSON.stringify(body) });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.detail);
  return answer;
}

const baseOf = (form) => form.dataset.base ?? "/api";

async function make(form) {
  const csrf = form.elements.csrf_token.value;
  const { password } = form.elements;
  const { publicKey } = await send(`${baseOf(form)}/passkeys/options`, password ? { password: password.value } : {}, csrf);
  const made = await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(publicKey) });
  await send(`${baseOf(form)}/passkeys`, { name: form.elements.name.value, credential: made.toJSON() }, csrf);
}

async function signIn(form) {
  const { publicKey } = await send(`${baseOf(form)}/session/passkey/options`, {});
  const proof = await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(publicKey) });
  await send(`${baseOf(form)}/session/passkey`, { credential: proof.toJSON() });
}

const WAYS = { make, "sign-in": signIn };

async function run(form) {
  const problem = form.querySelector("[data-problem]");
  const button = form.querySelector("button");
  problem.hidden = true;
  button.disabled = true;
  try {
    await WAYS[form.dataset.passkey](form);
    location.assign(form.dataset.done);
  } catch (error) {
    problem.textContent = error.name === "NotAllowedError" ? form.dataset.cancelled : error.message;
    problem.hidden = false;
    button.disabled = false;
  }
}

if (window.PublicKeyCredential?.parseCreationOptionsFromJSON) {
  for (const form of document.querySelectorAll("[data-passkey]")) {
    form.hidden = false;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      run(form);
    });
  }
}
