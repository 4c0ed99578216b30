// Of two clicks in a row the second would replace the reply to the first: recovery codes that are shown once would not be
// seen, and a code that signs in once would be refused.
const PAUSE = 10_000;
let sentAt = -PAUSE;

document.querySelector(".sign-in form").addEventListener("submit", (event) => {
  if (event.timeStamp - sentAt < PAUSE) event.preventDefault();
  else sentAt = event.timeStamp;
});
