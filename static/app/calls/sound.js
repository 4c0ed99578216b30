// The sound of a ring, made of tones: no file to load. A browser allows sound only after the first click or key
// in the window; before that the ring is silent and nothing complains.
const RINGING = {
  notes: [
    [0, 660],
    [0.22, 880],
    [0.44, 660],
    [0.66, 880],
  ],
  every: 2600,
  volume: 0.16,
};
const WAITING = {
  notes: [
    [0, 425],
    [0.02, 425],
  ],
  every: 4000,
  volume: 0.05,
};

let context = null;

function play({ notes, volume }) {
  if (!navigator.userActivation?.hasBeenActive) return;
  context ??= new AudioContext();
  if (context.state === "suspended") context.resume();
  for (const [offset, frequency] of notes) {
    const start = context.currentTime + offset;
    const tone = context.createOscillator();
    const gain = context.createGain();
    tone.frequency.value = frequency;
    gain.gain.setValueAtTime(0, start);
    gain.gain.linearRampToValueAtTime(volume, start + 0.02);
    gain.gain.exponentialRampToValueAtTime(0.0001, start + 0.2);
    tone.connect(gain).connect(context.destination);
    tone.start(start);
    tone.stop(start + 0.22);
  }
}

// Begins a repeated sound; returns the function that ends it.
function repeat(sound) {
  play(sound);
  const timer = setInterval(() => play(sound), sound.every);
  return () => clearInterval(timer);
}

export const ring = () => repeat(RINGING);
export const waitTone = () => repeat(WAITING);
