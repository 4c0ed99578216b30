// A component that is drawn anew only when one of the props in `static keys` changes, or the language of its texts.
import { Component } from "preact";
import { language } from "../lib/i18n.js";

// What it draws is up to its subclasses.
// @ts-expect-error
export class Pure extends Component {
  /** @type {string[]} */
  static keys = [];

  constructor(props) {
    super(props);
    this.language = language();
  }

  shouldComponentUpdate(next) {
    const before = this.language;
    this.language = language();
    const { keys } = /** @type {typeof Pure} */ (this.constructor);
    return this.language !== before || keys.some((key) => next[key] !== this.props[key]);
  }
}
