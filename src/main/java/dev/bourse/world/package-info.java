/**
 * World files, from which a store is seeded with pools, nodes and organizations.
 *
 * <p>{@link dev.bourse.world.WorldFile} reads and checks a file; {@link dev.bourse.world.Seeding}
 * creates the rows that the store lacks. Existing rows stay unchanged, because operators may have
 * edited them since the file was written.
 */
@NullMarked
package dev.bourse.world;

import org.jspecify.annotations.NullMarked;
