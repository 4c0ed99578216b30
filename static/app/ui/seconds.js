import { useEffect, useState } from "../lib/html.js";

// The whole seconds until a time in milliseconds, drawn anew as they go; 0 without one, or once it is past.
export function useSeconds(until) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!until) return undefined;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, [until]);
  return until ? Math.max(0, Math.ceil((until - now) / 1000)) : 0;
}
