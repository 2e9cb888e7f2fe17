/**
 * The operators' settings of pools and the platform's switches. This package stores both, puts them
 * in force in {@link dev.bourse.capacity.Clusters}, whose snapshots show them at once, and reads
 * them again after another process has changed them.
 */
@NullMarked
package dev.bourse.pools.settings;

import org.jspecify.annotations.NullMarked;
