// Making a passkey, and signing in with one: what the browser asks its owner, between two requests to this server.
"use strict";

async function send(address, body, csrf) {
  const headers = { "Content-Type": "application/json", ...(csrf ? { "X-CSRF-Token": csrf } : {}) };
  const response = await fetch(address, { method: "POST", headers, body: JSON.stringify(body) });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.detail);
  return answer;
}

async function make(form) {
  const csrf = form.elements.csrf_token.value;
  const { publicKey } = await send("/api/passkeys/options", { password: form.elements.password.value }, csrf);
  const made = await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(publicKey) });
  await send("/api/passkeys", { name: form.elements.name.value, credential: made.toJSON() }, csrf);
}

async function signIn() {
  const { publicKey } = await send("/api/session/passkey/options", {});
  const proof = await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(publicKey) });
  await send("/api/session/passkey", { credential: proof.toJSON() });
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
