/**
 * Who gets which node, and at what price: the auction of one pool as a pure function, and the
 * verticle that runs it once a tick.
 */
@NullMarked
package dev.bourse.market;

import org.jspecify.annotations.NullMarked;
