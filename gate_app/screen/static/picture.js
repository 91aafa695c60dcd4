// Shows the camera's live picture, ten a second at most: in the middle while the gate waits for a guest, beside a verdict
// where there is room. Nothing is asked for that nobody sees.
const NEXT_AFTER_MS = 100;
const ASK_AGAIN_AFTER_MS = 2000;
const ANSWER_MS = 3000;

const frame = document.getElementById("picture");
const shown = document.getElementById("picture-image");
const caption = document.getElementById("picture-name");
let cameras = [];
let turn = 0;
let asking = false;

const wait = (ms) => new Promise((done) => setTimeout(done, ms));
const ask = (address) => fetch(address, { cache: "no-store", signal: AbortSignal.timeout(ANSWER_MS) });

const middle = frame.parentElement;
const side = document.querySelector("aside");
const waiting = () => document.body.dataset.tone === "wait";
const wanted = () => !document.hidden && (waiting() || side.checkVisibility());

// The words make room for it, as on another screen.
const makeRoom = () => dispatchEvent(new Event("resize"));

// Moved only when it must be: a guest looks at it.
function place() {
  const home = waiting() ? middle : side;
  if (frame.parentElement === home) return;
  if (home === side) side.prepend(frame); else middle.querySelector(".words").before(frame);
  makeRoom();
}

async function draw(answer) {
  const picture = await createImageBitmap(await answer.blob());
  const resized = shown.width !== picture.width || shown.height !== picture.height;
  shown.width = picture.width;
  shown.height = picture.height;
  shown.getContext("2d").drawImage(picture, 0, 0);
  picture.close();
  if (resized) makeRoom();
}

// Draws a newer picture and returns its number, or null if there was none: the camera or the gate is away.
async function next(camera, after) {
  const answer = await ask("/picture?camera=" + encodeURIComponent(camera) + "&after=" + after);
  if (answer.status !== 200) return null;
  await draw(answer);
  return answer.headers.get("Picture-Number");
}

function note(state) {
  if (document.body.dataset.picture === state) return;
  document.body.dataset.picture = state;
  makeRoom();
}

async function look() {
  let after = -1;
  while (wanted() && cameras.length) {
    place();
    const camera = cameras[turn % cameras.length];
    let number = null;
    try { number = await next(camera, after); } catch { /* the gate is away: the stream says so */ }
    note(number === null ? "none" : "live");
    if (number === null) {
      // Another camera of this gate may work.
      after = -1;
      turn += 1;
      await wait(ASK_AGAIN_AFTER_MS);
    } else {
      after = number;
      caption.textContent = cameras.length > 1 ? camera : "";
      await wait(NEXT_AFTER_MS);
    }
  }
}

async function follow() {
  place();
  if (asking) return;
  asking = true;
  try {
    if (!cameras.length) cameras = (await (await ask("/cameras")).json()).cameras;
    frame.hidden = cameras.length === 0;
    await look();
  } catch { /* asked again below */ } finally { asking = false; }
}

setInterval(follow, ASK_AGAIN_AFTER_MS);
document.addEventListener("visibilitychange", follow);
new MutationObserver(follow).observe(document.body, { attributeFilter: ["data-tone"] });
follow();
