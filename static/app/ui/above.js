// The notices of the page stand above this element, however tall it is.
import { useEffect } from "../lib/html.js";

export function useNoticesAbove(element) {
  useEffect(() => {
    const { style } = document.documentElement;
    const watcher = new ResizeObserver(([{ target }]) => {
      const { offsetHeight } = /** @type {HTMLElement} */ (target);
      style.setProperty("--notices-from", `${offsetHeight + 8}px`);
    });
    watcher.observe(element.current);
    return () => {
      watcher.disconnect();
      style.removeProperty("--notices-from");
    };
  }, []);
}
