// A notice above the drawing that needs a decision: what happened, and what can be done.

export class Notice {
  constructor(root) {
    this.box = root.querySelector("[data-notice]");
    this.words = root.querySelector("[data-notice-words]");
    this.acts = root.querySelector("[data-notice-acts]");
  }

  show(words, acts = {}) {
    this.words.textContent = words;
    const buttons = Object.entries({ ...acts, ...(Object.keys(acts).length ? {} : { Close: () => {} }) }).map(([name, act]) => {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: name });
      button.addEventListener("click", () => {
        this.box.hidden = true;
        act();
      });
      return button;
    });
    this.acts.replaceChildren(...buttons);
    this.box.hidden = false;
  }
}
