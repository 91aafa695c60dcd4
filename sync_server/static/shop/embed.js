// The element gatehouse-shop: shows a shop, or one event of it, inside a page of another website, as high as what is in it.
"use strict";

(() => {
  const shop = new URL(".", document.currentScript.src);
  const LOOK = ":host { display: block } iframe { display: block; width: 100%; height: 0; border: 0; border-radius: 14px; color-scheme: normal }";

  class GatehouseShop extends HTMLElement {
    static observedAttributes = ["event", "all-events", "lang"];

    constructor() {
      super();
      const look = new CSSStyleSheet();
      look.replaceSync(LOOK);
      this.attachShadow({ mode: "open" }).adoptedStyleSheets = [look];
      this.heard = this.heard.bind(this);
    }

    connectedCallback() {
      addEventListener("message", this.heard);
      this.show();
    }

    disconnectedCallback() {
      removeEventListener("message", this.heard);
    }

    attributeChangedCallback() {
      if (this.isConnected && this.frame) this.show();
    }

    // What is shown, as a page of its own.
    get address() {
      const event = this.getAttribute("event");
      const path = shop.pathname.replace(/\/$/, "");
      const address = new URL(event ? `${path}/events/${encodeURIComponent(event)}` : path, shop);
      const language = this.closest("[lang]")?.lang.slice(0, 2);
      if (language) address.searchParams.set("lang", language);
      return address;
    }

    // Until the frame has said how high it is, there is a link: on websites that are not listed it stays.
    show() {
      const framed = this.address;
      framed.searchParams.set("embedded_by", location.origin);
      if (this.hasAttribute("event") && this.hasAttribute("all-events")) framed.searchParams.set("all_events", "1");
      const link = Object.assign(document.createElement("a"), { href: this.address, textContent: this.address.host + this.address.pathname });
      const slot = document.createElement("slot");
      slot.append(link);
      this.instead = document.createElement("div");
      this.instead.append(slot);
      this.frame = Object.assign(document.createElement("iframe"), { src: framed, title: this.address.host, allow: "" });
      this.seen = undefined;
      this.shadowRoot.replaceChildren(this.instead, this.frame);
    }

    heard({ origin, source, data }) {
      if (origin !== shop.origin || source !== this.frame?.contentWindow) return;
      if (data?.gatehouse !== "page" || !Number.isFinite(data.height) || data.height < 0) return;
      this.instead.hidden = true;
      this.frame.style.height = `${Math.ceil(data.height)}px`;
      this.frame.title = String(data.title);
      // Another page in the frame begins at its top.
      if (this.seen !== undefined && this.seen !== data.page && this.getBoundingClientRect().top < 0) this.scrollIntoView();
      this.seen = data.page;
    }
  }

  if (!customElements.get("gatehouse-shop")) customElements.define("gatehouse-shop", GatehouseShop);
})();
