// The tabs beside the drawing, with the keys that tabs have.

export class Tabs {
  constructor(root) {
    this.root = root;
    this.tabs = [...root.querySelectorAll("[role=tab]")];
    for (const tab of this.tabs) {
      tab.addEventListener("click", () => this.open(tab.dataset.tab));
      tab.addEventListener("keydown", (event) => this.#key(event, this.tabs.indexOf(tab)));
    }
  }

  open(name) {
    for (const tab of this.tabs) {
      const here = tab.dataset.tab === name;
      tab.setAttribute("aria-selected", here);
      tab.tabIndex = here ? 0 : -1;
      this.root.querySelector(`#panel-${tab.dataset.tab}`).hidden = !here;
    }
    this.root.dispatchEvent(new CustomEvent("panel", { detail: name }));
  }

  #key(event, at) {
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: this.tabs.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const tab = this.tabs[(to + this.tabs.length) % this.tabs.length];
    this.open(tab.dataset.tab);
    tab.focus();
  }
}
