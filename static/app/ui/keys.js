// Keys that belong to an input method while it makes a word: the Enter that ends the word sends nothing, Escape closes
// nothing, arrows choose among its proposals.

// Safari ends the composition before the key that ended it: only the number of the key still tells.
const IN_PROCESS = 229;

export function isComposing(event) {
  const isOfInputMethod = event.isComposing || event.keyCode === IN_PROCESS;
  // At Escape the browser itself empties a search box and closes a dialog.
  if (isOfInputMethod && event.key === "Escape") event.preventDefault();
  return isOfInputMethod;
}

// A keyboard on the screen: it has no Shift to break a line with.
export const isTouch = () => matchMedia("(pointer: coarse)").matches;
