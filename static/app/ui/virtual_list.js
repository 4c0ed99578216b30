// A virtual list: only the rows around the visible part are in the DOM.
//
// Where the reader is, is read from the page itself right before each change and restored right after it. A
// scroll event is never asked for that: it comes later than the scroll, and a redraw in between would lose it.
import { Component } from "preact";
import { html } from "../lib/html.js";

const OVERSCAN = 900;
const ESTIMATE = 62;
const NEAR_END = 60;
const NEAR_START = 1200;
const FIRST = 60;

const hasMessage = ({ type }) => type === "message" || type === "album";
const isOfOther = (row) => hasMessage(row) && !row.own;

export class VirtualList extends Component {
  constructor(props) {
    super(props);
    this.heights = new Map();
    this.state = { rows: props.rows, start: Math.max(0, props.rows.length - FIRST), end: props.rows.length };
    this.watcher = new ResizeObserver((entries) =>
      entries.some(({ target }) => target === this.box) ? this.boxChanged() : this.rowsChanged(),
    );
    this.setBox = (box) => {
      this.box = box;
    };
    this.onScroll = () => this.updateRange();
    this.onVisible = () => this.watchFrame();
  }

  // Rows that come in front move the others: the window stays on the rows that it shows.
  static getDerivedStateFromProps({ rows }, { rows: before, start, end }) {
    if (rows === before) return null;
    const wasLast = end >= before.length;
    const places = new Map(rows.map((row, index) => [row.key, index]));
    let moved = 0;
    for (let index = start; index < Math.min(end, before.length); index += 1) {
      if (!places.has(before[index].key)) continue;
      moved = places.get(before[index].key) - index;
      break;
    }
    return { rows, start: Math.max(0, start + moved), end: wasLast ? rows.length : end + moved };
  }

  componentDidMount() {
    this.seenWidth = this.box.clientWidth;
    this.seenHeight = this.box.clientHeight;
    this.watcher.observe(this.box);
    this.watcher.observe(this.box.querySelector(".log-rows"));
    document.addEventListener("visibilitychange", this.onVisible);
    this.measure();
    this.toEnd();
    this.updateRange();
    this.props.control?.(this);
  }

  componentWillUnmount() {
    this.watcher.disconnect();
    document.removeEventListener("visibilitychange", this.onVisible);
    cancelAnimationFrame(this.frame);
  }

  height(row) {
    return this.heights.get(row.key) ?? ESTIMATE;
  }

  rowElements() {
    return this.box.querySelectorAll(":scope > .log-rows > [data-key]");
  }

  measure() {
    for (const element of this.rowElements())
      this.heights.set(element.dataset.key, element.getBoundingClientRect().height);
  }

  // Of rows that have gone.
  forgetHeights() {
    const keys = new Set(this.props.rows.map((row) => row.key));
    for (const key of this.heights.keys()) if (!keys.has(key)) this.heights.delete(key);
  }

  distanceToEnd(height = this.box.clientHeight) {
    return this.box.scrollHeight - this.box.scrollTop - height;
  }

  // The first rows in the window and where they stand in it: the reader's place.
  getSnapshotBeforeUpdate() {
    const top = this.box.getBoundingClientRect().top;
    const bottom = top + this.box.clientHeight;
    const places = [];
    for (const element of this.rowElements()) {
      const place = element.getBoundingClientRect();
      if (place.bottom > top && place.top < bottom) places.push({ key: element.dataset.key, top: place.top - top });
    }
    return { places, toEnd: this.distanceToEnd() };
  }

  componentDidUpdate(previous, _state, { places, toEnd }) {
    this.measure();
    if (this.heights.size > 2 * this.props.rows.length + FIRST) this.forgetHeights();
    if (this.wantsRow) return;
    const grew = previous.rows !== this.props.rows;
    // Rows that were loaded at the end are no news: they come below, and the reader stays.
    const follows = previous.follow !== false && this.state.end >= this.props.rows.length;
    if (follows && grew) this.firstNew ??= this.newSince(previous.rows);
    if (follows && toEnd < (grew ? NEAR_END : 2)) this.followEnd();
    else this.restore(places);
    this.updateRange({ isRedraw: true });
  }

  restore(places) {
    const elements = new Map([...this.rowElements()].map((element) => [element.dataset.key, element]));
    for (const { key, top } of places) {
      const element = elements.get(key);
      if (!element) continue;
      const moved = element.getBoundingClientRect().top - this.box.getBoundingClientRect().top - top;
      if (Math.abs(moved) > 0.5) this.box.scrollTop += moved;
      return;
    }
  }

  toEnd() {
    this.box.scrollTop = this.box.scrollHeight;
  }

  // The key of the first row of another person behind those that were there.
  newSince(before) {
    const { rows } = this.props;
    const lastKey = before.at(-1)?.key;
    let index = rows.length;
    while (index > 0 && rows[index - 1].key !== lastKey) index -= 1;
    if (index === 0 && lastKey !== undefined) return null;
    return rows.slice(index).find(isOfOther)?.key ?? null;
  }

  // To the end, as far as what is new stays in the window until it has been drawn there.
  followEnd() {
    this.toEnd();
    const { rows } = this.props;
    let index = rows.findIndex(({ key }) => key === this.firstNew);
    // With the dividers above it.
    while (index > 0 && !hasMessage(rows[index - 1]) && rows[index - 1].type !== "pending") index -= 1;
    const element = [...this.rowElements()].find(({ dataset }) => dataset.key === rows[index]?.key);
    const above = element ? this.box.getBoundingClientRect().top - element.getBoundingClientRect().top : 0;
    if (above > 0) this.box.scrollTop -= Math.ceil(above);
  }

  // Reports what a frame of a visible window shows: it is asked right before the browser draws it.
  watchFrame() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      if (!this.box || this.wantsRow || this.props.isHeld?.() || document.visibilityState !== "visible") return;
      const key = this.lastInWindow();
      const { rows } = this.props;
      const index = rows.findIndex((row) => row.key === key);
      const firstNew = rows.findIndex((row) => row.key === this.firstNew);
      if (index >= firstNew) this.firstNew = rows.slice(index + 1).find(isOfOther)?.key ?? null;
      this.props.onDrawn?.(key);
    });
  }

  // To the end from anywhere: the last rows are drawn first.
  goToEnd() {
    const { length } = this.props.rows;
    // Nothing on the way has to be seen.
    this.firstNew = null;
    if (this.state.end >= length) {
      this.toEnd();
      this.updateRange();
      return;
    }
    this.wantsRow = true;
    this.setState({ start: Math.max(0, length - FIRST), end: length }, () => {
      this.measure();
      this.toEnd();
      this.wantsRow = false;
      this.updateRange();
    });
  }

  // A keyboard on the screen or a growing text box takes room from the list: the end stays in sight.
  boxChanged() {
    const wasAtEnd = this.wasAtEnd || this.distanceToEnd(this.seenHeight) < NEAR_END;
    if (this.seenWidth !== this.box.clientWidth) this.heights.clear();
    this.seenWidth = this.box.clientWidth;
    this.measure();
    this.seenHeight = this.box.clientHeight;
    if (wasAtEnd) this.followEnd();
    this.updateRange();
  }

  // A row has grown by itself, as one does whose picture arrives.
  rowsChanged() {
    if (!this.wasAtEnd || this.wantsRow || this.distanceToEnd() < 2) return;
    this.measure();
    this.followEnd();
    this.updateRange();
  }

  // Which rows belong into the page, by where the window is now.
  range() {
    const { rows } = this.props;
    const from = this.box.scrollTop - OVERSCAN;
    const to = this.box.scrollTop + this.box.clientHeight + OVERSCAN;
    let start = rows.length;
    let end = rows.length;
    let y = 0;
    for (let index = 0; index < rows.length; index += 1) {
      const next = y + this.height(rows[index]);
      if (start === rows.length && next >= from) start = index;
      if (y > to) {
        end = index;
        break;
      }
      y = next;
    }
    return { start: Math.min(start, Math.max(0, rows.length - 1)), end };
  }

  // Draws the rows that belong into the page now, and tells the owner where the reader is.
  // After a redraw rows are only added: two ranges that each ask for the other would follow one another for ever.
  updateRange({ isRedraw = false } = {}) {
    if (!this.box) return;
    let { start, end } = this.range();
    if (isRedraw)
      [start, end] = [
        Math.min(start, this.state.start),
        Math.max(end, Math.min(this.state.end, this.props.rows.length)),
      ];
    if (start !== this.state.start || end !== this.state.end) this.setState({ start, end });
    const { onStart, onEnd, onPlace } = this.props;
    if (this.box.scrollTop < NEAR_START) onStart?.();
    const toEnd = this.distanceToEnd();
    this.wasAtEnd = toEnd < NEAR_END;
    if (toEnd < NEAR_START) onEnd?.();
    onPlace?.({ atEnd: this.wasAtEnd, far: toEnd > 600, first: this.firstInWindow() });
    this.watchFrame();
  }

  // Brings a row into the window. Its neighbours are drawn first, so that their heights are known. Resolves once it stands there.
  show(key, where = "center") {
    const { rows } = this.props;
    const index = rows.findIndex((row) => row.key === key);
    if (index < 0) return Promise.resolve();
    this.wantsRow = true;
    return new Promise((resolve) => {
      this.setState({ start: Math.max(0, index - 25), end: Math.min(rows.length, index + 25) }, () => {
        this.measure();
        const element = [...this.rowElements()].find((candidate) => candidate.dataset.key === key);
        element?.scrollIntoView({ block: where, behavior: "instant" });
        this.wantsRow = false;
        this.updateRange();
        resolve();
      });
    });
  }

  // The key of the first row whose end is in the window.
  firstInWindow() {
    const top = this.box.getBoundingClientRect().top + 1;
    return [...this.rowElements()].find((element) => element.getBoundingClientRect().bottom > top)?.dataset.key ?? null;
  }

  // The key of the last row whose end is in the window.
  lastInWindow() {
    const bottom = this.box.getBoundingClientRect().bottom + 1;
    let last = null;
    for (const element of this.rowElements())
      if (element.getBoundingClientRect().bottom <= bottom) last = element.dataset.key;
    return last;
  }

  render({ rows, draw, label, head, foot, onKeyDown, className }, { start, end }) {
    const last = Math.min(end, rows.length);
    const first = Math.min(start, last);
    let above = 0;
    let below = 0;
    for (let index = 0; index < first; index += 1) above += this.height(rows[index]);
    for (let index = last; index < rows.length; index += 1) below += this.height(rows[index]);
    return html`<div ref=${this.setBox} class=${`virtual ${className}`} role="log" aria-label=${label} tabindex="0" onScroll=${this.onScroll} onKeyDown=${onKeyDown}>
      ${head}
      <div class="space" style=${{ height: `${above}px` }}></div>
      <div class="log-rows">${rows.slice(first, last).map((row) => draw(row))}</div>
      <div class="space" style=${{ height: `${below}px` }}></div>
      ${foot}
    </div>`;
  }
}
