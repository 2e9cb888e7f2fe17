package dev.bourse.org;

import org.jspecify.annotations.Nullable;

/** A cluster that a caller can address, with the GPUs of its pool. */
public record AddressableCluster(
    String name, String kind, String gpuVendor, @Nullable String gpuModel) {}
