// Counts down how long what is chosen stays the visitor's, by the server's clock; warns when half a minute is left.
const WARNING_S = 30;

function text(seconds) {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

export function countDown(element, over = () => {}) {
  const ahead = Date.now() - Number(element.dataset.now);
  const ends = Number(element.dataset.ends) + ahead;
  const shown = element.querySelector("[data-text]");
  const warning = element.querySelector("[data-warning]");
  let timer = 0;
  const show = () => {
    const seconds = Math.max(0, Math.ceil((ends - Date.now()) / 1000));
    shown.textContent = seconds ? element.dataset.running.replace("{time}", text(seconds)) : element.dataset.over;
    element.classList.toggle("soon", seconds <= WARNING_S);
    if (warning) warning.hidden = seconds > WARNING_S || seconds === 0;
    if (seconds === 0) {
      clearInterval(timer);
      over();
    }
  };
  timer = setInterval(show, 500);
  show();
}
