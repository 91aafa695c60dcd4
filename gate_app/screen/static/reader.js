// A telephone as a reader: its camera's newest frame goes to the gate, one at a time, and the gate alone reads and decides.
"use strict";

(() => {
  const find = (id) => document.getElementById(id);
  const SAID = JSON.parse(document.body.dataset.reader);
  const LONGEST = 1280;
  const LONGEST_PHOTOGRAPH = 1920;
  const EVERY_MS = 125;
  const HERE_EVERY_MS = 2000;
  const AGAIN_AFTER_MS = 700;
  const ANSWER_MS = 8000;
  // Of a photograph every stage of the decoder is tried, by a gate that may be busy.
  const LOOKED_AT_MS = 30000;

  const video = find("video");
  const canvas = document.createElement("canvas");
  let camera = null;
  let awake = null;

  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  const say = (words) => { if (find("eye-said").textContent !== words) find("eye-said").textContent = words; };

  // The verdict has another room now: its letters are measured again.
  function show(eye) {
    document.body.dataset.eye = eye;
    dispatchEvent(new Event("resize"));
  }

  // What the gate answers; whoever is paired no longer reads nothing more.
  async function send(where, jpeg, within) {
    const headers = jpeg ? { "Content-Type": "image/jpeg" } : {};
    const answer = await fetch("/reader/" + where, { method: "POST", headers, body: jpeg || null, signal: AbortSignal.timeout(within || ANSWER_MS) });
    if (answer.status === 403) { end(); location.replace("/reader"); throw new Error(SAID.over); }
    return answer;
  }

  async function jpegOf(source, width, height, longest, quality) {
    const scale = Math.min(1, longest / Math.max(width, height));
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.getContext("2d").drawImage(source, 0, 0, canvas.width, canvas.height);
    return new Promise((done) => canvas.toBlob(done, "image/jpeg", quality));
  }

  async function look() {
    while (camera) {
      const begun = performance.now();
      try {
        if (!document.hidden && video.videoWidth) {
          await send("frame", await jpegOf(video, video.videoWidth, video.videoHeight, LONGEST, 0.75));
          say(SAID.looking);
        }
        await wait(Math.max(0, EVERY_MS - (performance.now() - begun)));
      } catch (why) {
        say(why.message === SAID.over ? SAID.over : SAID.no_contact);
        await wait(AGAIN_AFTER_MS);
      }
    }
  }

  function end() {
    if (camera) for (const track of camera.getTracks()) track.stop();
    camera = null;
    video.hidden = true;
    find("light").hidden = true;
  }

  // Where a browser gives no live picture, photographs are taken one by one.
  function stills(why) {
    end();
    find("eye-start").hidden = true;
    find("eye-still").hidden = false;
    say(why);
    show("stills");
  }

  async function stayAwake() {
    try { awake = navigator.wakeLock && await navigator.wakeLock.request("screen"); } catch { /* the telephone saves its battery */ }
  }

  function offerLight(track) {
    const can = track.getCapabilities ? track.getCapabilities() : {};
    find("light").hidden = !can.torch;
    let on = false;
    find("light").onclick = async () => {
      try {
        await track.applyConstraints({ advanced: [{ torch: !on }] });
        on = !on;
      } catch { return; }
      find("light").setAttribute("aria-pressed", String(on));
      find("light").textContent = on ? SAID.light_off : SAID.light_on;
    };
  }

  async function start() {
    if (!navigator.mediaDevices || !navigator.mediaDevices.getUserMedia) return stills(SAID.not_secure);
    try {
      const wanted = { facingMode: { ideal: "environment" }, width: { ideal: 1280 }, height: { ideal: 720 } };
      camera = await navigator.mediaDevices.getUserMedia({ video: wanted, audio: false });
    } catch (why) {
      return stills(why.name === "NotAllowedError" ? SAID.denied : SAID.no_camera);
    }
    const [track] = camera.getVideoTracks();
    track.addEventListener("ended", () => stills(SAID.camera_lost));
    video.srcObject = camera;
    video.hidden = false;
    find("eye-start").hidden = true;
    show("live");
    await video.play();
    offerLight(track);
    stayAwake();
    look();
  }

  async function photograph() {
    const [file] = find("photograph").files;
    if (!file) return;
    find("photograph").disabled = true;
    say(SAID.sending);
    try {
      const picture = await createImageBitmap(file);
      const jpeg = await jpegOf(picture, picture.width, picture.height, LONGEST_PHOTOGRAPH, 0.85);
      picture.close();
      const answer = await (await send("photograph", jpeg, LOOKED_AT_MS)).json();
      say(answer.error ? answer.error.message : answer.read ? SAID.was_read : answer.words);
    } catch (why) {
      say(why.message === SAID.over ? SAID.over : SAID.no_contact);
    }
    find("photograph").value = "";
    find("photograph").disabled = false;
  }

  async function stop() {
    end();
    try { await send("leave"); } catch { /* it ends by itself, or a supervisor ends it */ }
    location.replace("/reader");
  }

  find("start").addEventListener("click", start);
  find("start").disabled = false; // touched any earlier, nothing would have happened
  find("stop").addEventListener("click", stop);
  find("photograph").addEventListener("change", photograph);
  // A telephone that lies in a pocket gave its lock back to the system.
  document.addEventListener("visibilitychange", () => { if (!document.hidden && awake) stayAwake(); });
  setInterval(() => { if (!document.hidden && !camera) send("here").catch(() => undefined); }, HERE_EVERY_MS);
})();
