// The console of the page about the real-time protocol: signs in, shows every frame, acknowledges, pings.

const form = document.getElementById("watch-form");
const state = document.getElementById("watch-state");
const frames = document.getElementById("watch-frames");
const button = form.querySelector("button");
form.hidden = state.hidden = false;
const SHOWN = 200;
let socket = null;
let pinging = 0;

const show = (text) => {
  frames.hidden = false;
  frames.append(`${new Date().toLocaleTimeString()}  ${text}\n`);
  while (frames.childNodes.length > SHOWN) frames.firstChild.remove();
  frames.scrollTop = frames.scrollHeight;
};

const send = (frame) => {
  const text = JSON.stringify(frame);
  socket.send(text);
  show(`> ${frame.type === "auth" ? '{"type":"auth", …}' : text}`);
};

const connect = (token) => {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  socket = new WebSocket(`${scheme}://${location.host}/api/v1/realtime`);
  state.textContent = "Connecting …";
  button.textContent = "Disconnect";
  socket.addEventListener("open", () => send({ type: "auth", ref: "1", data: { token } }));
  socket.addEventListener("message", ({ data }) => {
    const frame = JSON.parse(data);
    show(`< ${data}`);
    if (frame.type === "ready") {
      state.textContent = "Connected. Events of this user appear here.";
      pinging = setInterval(() => send({ type: "ping" }), frame.data.ping_s * 1000);
    }
    if (frame.seq) send({ type: "ack", data: { seq: frame.seq } });
  });
  socket.addEventListener("close", ({ code, reason }) => {
    clearInterval(pinging);
    socket = null;
    button.textContent = "Connect";
    state.textContent = `Closed with ${code}${reason ? ` (${reason})` : ""}.`;
  });
};

form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (socket) socket.close();
  else connect(document.getElementById("watch-token").value.trim());
});
