// Of two clicks in a row the second would replace the reply to the first: recovery codes that are shown once would not be
// seen, a code that signs in once would be refused, and a form would find its own change and say that nothing was saved.
const PAUSE = 10_000;
const sentAt = new WeakMap();

document.addEventListener("submit", (event) => {
  const form = event.target;
  // The form of a list sends nothing that counts, and a download leaves it in place for the next one.
  if (form.method !== "post" || form.id === "changelist-form") return;
  if (event.timeStamp - (sentAt.get(form) ?? -PAUSE) < PAUSE) event.preventDefault();
  else sentAt.set(form, event.timeStamp);
});
