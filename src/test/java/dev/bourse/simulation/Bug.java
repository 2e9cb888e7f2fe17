package dev.bourse.simulation;

import dev.bourse.blob.BlobStore;
import dev.bourse.nodes.NodeProvider;
import dev.bourse.store.Database;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * A fault that is planted in the simulated service, to show that the simulation finds it. It is
 * planted at the ports, so that the product needs no switch for it.
 */
interface Bug {
  /** No bug. */
  Bug NONE = () -> "NONE";

  /** Returns every bug. */
  static List<Bug> all() {
    List<Bug> all = new ArrayList<>();
    all.addAll(List.of(StoreBug.values()));
    all.addAll(List.of(MoneyBug.values()));
    all.addAll(List.of(TrailBug.values()));
    all.addAll(List.of(MarketBug.values()));
    all.addAll(List.of(AlertBug.values()));
    all.addAll(List.of(MachineBug.values()));
    all.addAll(List.of(AccessBug.values()));
    all.addAll(List.of(UploadBug.values()));
    return all;
  }

  /** The name on the command line. */
  String name();

  /** Called when a world is created, before any event. */
  default void begin(World world) {}

  /** Wraps the database. */
  default Database around(Database store, World world, World.Slot slot) {
    return store;
  }

  /** Wraps the source of randomness. */
  default RandomGenerator around(RandomGenerator random) {
    return random;
  }

  /** Wraps the machines. */
  default NodeProvider around(NodeProvider provider, World world) {
    return provider;
  }

  /** Wraps the blob store. */
  default BlobStore around(BlobStore blobs, World world, World.Slot slot) {
    return blobs;
  }
}
