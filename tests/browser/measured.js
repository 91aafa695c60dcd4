// Evaluated in a page: what is cut off, what covers something else, and how small the letters are.
() => {
    const box = (node) => node.getBoundingClientRect();
    const seen = (node) => node.getClientRects().length > 0 && box(node).width > 1 && box(node).height > 1
        && getComputedStyle(node).visibility !== "hidden";
    const own = (node) => [...node.childNodes].some((part) => part.nodeType === 3 && part.data.trim());
    const named = (node) => (node.id ? "#" + node.id : node.tagName) + " " + (node.textContent || "").trim().slice(0, 40);
    const texts = [...document.body.querySelectorAll("*")].filter((node) => own(node) && seen(node)
        && !node.closest("noscript, script, [hidden], option, .languages ul"));
    const size = (node) => parseFloat(getComputedStyle(node).fontSize);
    const shortened = (node) => getComputedStyle(node).textOverflow === "ellipsis";
    const ink = (node) => {
        const range = document.createRange();
        range.selectNodeContents(node);
        if (shortened(node)) return box(node);
        // Lines are higher than their letters, by about as much everywhere.
        const [lines, spare] = [range.getBoundingClientRect(), 0.12 * size(node)];
        return { left: lines.left, right: lines.right, top: lines.top + spare, bottom: lines.bottom - spare, height: lines.height - 2 * spare };
    };
    const inks = texts.map(ink);
    const covers = [];
    for (let one = 0; one < texts.length; one += 1) {
        for (let other = one + 1; other < texts.length; other += 1) {
            if (texts[one].contains(texts[other]) || texts[other].contains(texts[one])) continue;
            const [a, b] = [inks[one], inks[other]];
            const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
            const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
            if (wide > 2 && high > 0.2 * Math.min(a.height, b.height)) covers.push(named(texts[one]) + " / " + named(texts[other]));
        }
    }
    const clipped = (node) => {
        if (shortened(node)) return false;
        for (let outer = node.parentElement; outer && outer !== document.body; outer = outer.parentElement) {
            const style = getComputedStyle(outer);
            if (style.overflowX === "visible" && style.overflowY === "visible") continue;
            if (style.textOverflow === "ellipsis" || /auto|scroll/.test(style.overflowY)) return false;
            const [inner, frame] = [ink(node), box(outer)];
            if (inner.right > frame.right + 1 || inner.left < frame.left - 1 || inner.bottom > frame.bottom + 2 || inner.top < frame.top - 2) return true;
        }
        return false;
    };
    const outside = (node) => { const at = ink(node); return at.right > innerWidth + 1 || at.left < -1; };
    return {
        wide: document.documentElement.scrollWidth > innerWidth,
        high: document.documentElement.scrollHeight > innerHeight,
        cut: texts.filter((node) => clipped(node) || outside(node)).map(named),
        covers,
        smallest: texts.reduce((least, node) => Math.min(least, size(node)), 99),
        small: texts.filter((node) => size(node) < 11).map((node) => named(node) + " " + size(node)),
        message: document.getElementById("message")?.textContent ? size(document.getElementById("message")) : null,
    };
}
