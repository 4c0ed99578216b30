// The notices of the page stand above this element, however tall it is.
import { useEffect } from "../html.js";

export function useNoticesAbove(element) {
  useEffect(() => {
    const { style } = document.documentElement;
    const watcher = new ResizeObserver(([{ target }]) => style.setProperty("--notices-from", `${target.offsetHeight + 8}px`));
    watcher.observe(element.current);
    return () => {
      watcher.disconnect();
      style.removeProperty("--notices-from");
    };
  }, []);
}
