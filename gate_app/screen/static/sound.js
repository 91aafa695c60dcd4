// The sounds of a verdict, by the same tones as the gate's own loudspeaker and as loud as the gate is set.
"use strict";

(() => {
  const TONES = JSON.parse(document.body.dataset.tones);
  const EDGE_S = 0.004;
  let speaker = null;
  let heard = null;

  function sound(tones, loudness) {
    let at = speaker.currentTime;
    for (const [hertz, millis] of tones) {
      const until = at + millis / 1000;
      if (hertz) {
        const wave = new OscillatorNode(speaker, { frequency: hertz });
        const loud = new GainNode(speaker, { gain: 0 });
        // Soft edges: a hard one would click.
        loud.gain.setValueAtTime(0, at);
        loud.gain.linearRampToValueAtTime(loudness / 100, at + EDGE_S);
        loud.gain.setValueAtTime(loudness / 100, until - EDGE_S);
        loud.gain.linearRampToValueAtTime(0, until);
        wave.connect(loud).connect(speaker.destination);
        wave.start(at);
        wave.stop(until);
      }
      at = until;
    }
  }

  // Browsers sound for nobody who has not touched them.
  addEventListener("pointerup", () => { speaker ??= new AudioContext(); speaker.resume(); });
  addEventListener("gate-view", ({ detail: view }) => {
    const fresh = heard !== null && view.verdict_number > heard && view.age_ms < 1000;
    heard = view.verdict_number;
    const tones = fresh && view.verdict && TONES[view.verdict.tone];
    if (!tones) return;
    document.body.dataset.sounded = view.loudness ? view.verdict.tone : "none";
    if (view.loudness && speaker) sound(tones, view.loudness);
  });
})();
