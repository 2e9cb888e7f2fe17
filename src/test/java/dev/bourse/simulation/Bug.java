package dev.bourse.simulation;

import dev.bourse.nodes.NodeProvider;
import dev.bourse.store.Database;

/**
 * A fault of the service that a simulation can be told to have, to see that it is found. It is put
 * in at the ports, so that the product has no switch for it.
 */
enum Bug {
  NONE;

  /** The store as the service with this bug uses it. */
  Database around(Database store, World world, World.Slot slot) {
    return store;
  }

  /** The machines as the service with this bug uses them. */
  NodeProvider around(NodeProvider provider, World world) {
    return provider;
  }
}
