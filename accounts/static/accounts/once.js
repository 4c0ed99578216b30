// Of two clicks in a row the second would replace the reply to the first: what is shown once would not be seen (recovery
// codes, the form after an undone change of address), a code that signs in once would be refused, and a form of the support
// pages would find its own change and say that nothing was saved. Without this script the pages work as well.
const PAUSE = 10_000;
const sentAt = new WeakMap();

document.addEventListener("submit", (event) => {
  const form = event.target;
  // The form of a list sends nothing that counts, and a download leaves it in place for the next one.
  if (form.method !== "post" || form.id === "changelist-form") return;
  if (event.timeStamp - (sentAt.get(form) ?? -PAUSE) < PAUSE) event.preventDefault();
  else sentAt.set(form, event.timeStamp);
});
