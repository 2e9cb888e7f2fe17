/**
 * The values every other package speaks in: prices, error codes, pages, identifiers, limits.
 *
 * <p>Nothing here does I/O or knows Vert.x, so that each rule built on these values can be tested
 * as a plain function. A price is a whole number of US cents per GPU-hour and a time is epoch
 * milliseconds wherever it is stored or compared; decimals and RFC 3339 text exist only at the
 * edge.
 *
 * <p>{@link dev.bourse.core.ConfirmedTime} is the third clock beside the wall's and the monotonic
 * one: by it is done what cannot be undone.
 */
@NullMarked
package dev.bourse.core;

import org.jspecify.annotations.NullMarked;
