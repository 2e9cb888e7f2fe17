/**
 * The whole, put together: command line, configuration, wiring, and the order of start and stop.
 * Nobody imports this package.
 */
@NullMarked
package dev.bourse.app;

import org.jspecify.annotations.NullMarked;
