package dev.bourse.simulation;

import dev.bourse.blob.BlobStore;
import dev.bourse.nodes.NodeProvider;
import dev.bourse.store.Database;
import java.util.ArrayList;
import java.util.List;

/**
 * A fault of the service that a simulation can be told to have, to see that it is found. It is put
 * in at the ports, so that the product has no switch for it.
 */
interface Bug {
  /** The service as it is. */
  Bug NONE = () -> "NONE";

  /** Every bug there is. */
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

  /** How it is asked for. */
  String name();

  /** A world begins; nothing has happened in it. */
  default void begin(World world) {}

  /** The store as the service with this bug uses it. */
  default Database around(Database store, World world, World.Slot slot) {
    return store;
  }

  /** The machines as the service with this bug uses them. */
  default NodeProvider around(NodeProvider provider, World world) {
    return provider;
  }

  /** The store of bytes as the service with this bug uses it. */
  default BlobStore around(BlobStore blobs, World world, World.Slot slot) {
    return blobs;
  }
}
