/**
 * The values that all other packages share: prices, error codes, pages, identifiers, limits.
 *
 * <p>Nothing here does I/O or knows Vert.x, so that each rule built on these values can be tested
 * as a plain function. A price is a whole number of US cents per GPU-hour and a time is epoch
 * milliseconds wherever it is stored or compared; decimals and RFC 3339 text exist only at the
 * edge.
 *
 * <p>{@link dev.bourse.core.ConfirmedTime} is a third clock beside the wall clock and the monotonic
 * one; irreversible work uses it.
 */
@NullMarked
package dev.bourse.core;

import org.jspecify.annotations.NullMarked;
