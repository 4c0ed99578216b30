// The title of the window: unread messages first, then the page.
import { useEffect, useLayoutEffect } from "./html.js";
import { createStore, useStore, app } from "./store.js";

const title = createStore({ page: "" });

// A page says what it is: useTitle(t("Settings")).
export function useTitle(page) {
  useLayoutEffect(() => title.set({ page }), [page]);
}

export function usePageTitle() {
  const page = useStore(title, (state) => state.page);
  const unread = useStore(app, (state) => state.messageUnread);
  useEffect(() => {
    const name = page ? `${page} · Parley` : "Parley";
    document.title = unread > 0 ? `(${unread}) ${name}` : name;
  }, [page, unread]);
}
