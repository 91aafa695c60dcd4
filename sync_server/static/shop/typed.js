// What was typed into these fields outlives a reload, in this tab and nowhere else.
function stored(read) {
  try {
    return read() ?? "";
  } catch {
    return ""; // storage is forbidden: the page works without
  }
}

export function keepTyped(fields) {
  for (const field of fields.filter(Boolean)) {
    const key = `typed ${location.pathname} ${field.name}`;
    field.value ||= stored(() => sessionStorage.getItem(key));
    field.addEventListener("input", () => stored(() => sessionStorage.setItem(key, field.value)));
  }
}
