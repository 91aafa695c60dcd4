// Says that the connection is lost, looks every five seconds whether it is back, and sends no form meanwhile.
const AGAIN_MS = 5000;

export function watchConnection(note) {
  let again;
  const found = () => {
    note.hidden = true;
    again = clearInterval(again);
  };
  const look = () => fetch(location.href, { method: "HEAD", cache: "no-store" }).then(found, lost);
  const lost = () => {
    note.hidden = false;
    again ??= setInterval(look, AGAIN_MS);
  };
  addEventListener("offline", lost);
  addEventListener("online", look);
  // Before all others: a form that goes nowhere would leave the page for an error of the browser.
  addEventListener("submit", (event) => {
    if (!again) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    look();
  }, true);
  if (!navigator.onLine) lost();
}
