// The title of the window: unread messages first, then the page.
import { useLayoutEffect } from "./html.js";
import { createStore, useStore } from "./store.js";

// As the server has written it into the page.
const PRODUCT = document.title;
const title = createStore({ page: "", ring: "", unread: 0 });

// A page says what it is: useTitle(t("Settings")).
export function useTitle(page) {
  useLayoutEffect(() => title.set({ page }), [page]);
}

// As long as it rings, the title says who calls: in a window that is not in sight it is all there is to see.
export function useRingTitle(text) {
  useLayoutEffect(() => {
    title.set({ ring: text });
    return () => title.set({ ring: "" });
  }, [text]);
}

// How many messages are unread, as long as someone is signed in.
export function useUnreadTitle(unread) {
  useLayoutEffect(() => {
    title.set({ unread });
    return () => title.set({ unread: 0 });
  }, [unread]);
}

// Once, in the shell.
export function usePageTitle() {
  const { page, ring, unread } = useStore(title);
  useLayoutEffect(() => {
    if (ring) {
      document.title = `${ring} · ${PRODUCT}`;
      return;
    }
    const name = page ? `${page} · ${PRODUCT}` : PRODUCT;
    document.title = unread > 0 ? `(${unread}) ${name}` : name;
  }, [page, ring, unread]);
}
