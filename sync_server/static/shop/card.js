// Shows Stripe's own form and pays with it; the page of the order knows the rest. Stripe's script is the only one from elsewhere.
const PATIENCE_MS = 10_000;
const form = document.querySelector("[data-stripe]");
const button = form.querySelector("button");
const problem = form.querySelector("[data-problem]");

function say(message) {
  problem.textContent = message ?? "";
  problem.hidden = !message;
}

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function start() {
  const appearance = { theme: matchMedia("(prefers-color-scheme: dark)").matches ? "night" : "stripe", variables: { colorPrimary: colour("--accent"), borderRadius: "10px" } };
  const stripe = window.Stripe(form.dataset.key, { locale: form.dataset.language });
  const elements = stripe.elements({ clientSecret: form.dataset.secret, appearance });
  const element = elements.create("payment");
  element.on("ready", () => { button.disabled = false; });
  element.on("loaderror", () => say(form.dataset.unreachable));
  element.mount(form.querySelector("[data-element]"));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    say("");
    const { error } = await stripe.confirmPayment({ elements, redirect: "if_required", confirmParams: { return_url: form.dataset.return } }).catch(() => ({ error: { message: form.dataset.unreachable } }));
    if (error) {
      say(error.message);
      button.disabled = false;
    } else location.assign(form.dataset.next);
  });
}

// A script that neither comes nor fails must not leave an empty page.
const slow = setTimeout(() => say(form.dataset.unreachable), PATIENCE_MS);
addEventListener("load", () => {
  clearTimeout(slow);
  say("");
  if (window.Stripe) start();
  else say(form.dataset.unreachable);
});
