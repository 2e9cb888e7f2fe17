/**
 * The roadmap: the features that the operator plans, previews, has shipped or has withdrawn.
 *
 * <p>{@link dev.bourse.roadmap.Roadmap} is a YAML file that {@code roadmap.file} names. It is read
 * once, when the service starts, and a fault in it keeps the service from starting: each entry that
 * is shipped must name operations of the contracts served, so that nothing is announced that cannot
 * be called. {@link dev.bourse.roadmap.RoadmapRoutes} answers with it, and the tool {@code
 * roadmap_read} of {@link dev.bourse.mcp} does.
 *
 * <p>Rejected: entries in the store with operations to edit them, because a roadmap changes with
 * the deployments that ship it.
 */
@NullMarked
package dev.bourse.roadmap;

import org.jspecify.annotations.NullMarked;
