// What a paste into a text box means: spreadsheets and word processors give text, markup and a picture of both.

const isOnlyPicture = (markup) =>
  /<img\b/i.test(markup) && markup.replace(/<style\b[^]*?<\/style>|<!--[^]*?-->|<[^>]*>|&nbsp;|\s/gi, "") === "";

// File managers give the names of the files as the text.
function namesFiles(text, files) {
  const names = new Set(files.map(({ name }) => name));
  return text.split(/\r?\n/).every((line) => names.has(decoded(line.trim().split(/[\\/]/).pop())));
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** {files, text} of a paste that the page has to deal with itself; null where the browser pastes. */
export function pasted(data) {
  const files = [...data.files];
  if (files.length === 0) return null;
  const text = data.getData("text/plain");
  const isText = text.trim() && !namesFiles(text.trim(), files) && !isOnlyPicture(data.getData("text/html"));
  return isText ? { files: [], text: text.replace(/\r\n?/g, "\n").replace(/\n$/, "") } : { files, text: "" };
}

/** Puts text where the caret is, as typing does: it can be undone. */
export function insertText(box, text) {
  box.focus();
  if (document.execCommand?.("insertText", false, text)) return;
  box.setRangeText(text, box.selectionStart, box.selectionEnd, "end");
  box.dispatchEvent(new InputEvent("input", { bubbles: true }));
}
