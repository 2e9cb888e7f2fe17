/**
 * Pools and the platform's switches as operators set them. Both are stored here, put in force in
 * {@link dev.bourse.capacity.Clusters}, whose snapshots show them at once, and read again when
 * another process has changed them.
 */
@NullMarked
package dev.bourse.pools.settings;

import org.jspecify.annotations.NullMarked;
