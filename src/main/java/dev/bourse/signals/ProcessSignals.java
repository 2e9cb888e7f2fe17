package dev.bourse.signals;

import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ClassLoadingMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.lang.management.MemoryUsage;
import java.lang.management.ThreadMXBean;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * Resource use of the process, under the names of Prometheus' own clients, which dashboards for
 * Java use.
 */
public final class ProcessSignals {
  private ProcessSignals() {}

  /**
   * Registers the metrics.
   *
   * @param version of the program
   */
  public static void registerMetrics(Signals signals, String version) {
    signals.fact("bourse_build_info", "Version of the program.", Label.VERSION, version);
    registerMemoryMetrics(signals);
    registerCollectionMetrics(signals);
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    signals.gauge("jvm_threads_current", "Live threads.", threads::getThreadCount);
    ClassLoadingMXBean classes = ManagementFactory.getClassLoadingMXBean();
    signals.gauge("jvm_classes_currently_loaded", "Loaded classes.", classes::getLoadedClassCount);
    double startedSeconds = ManagementFactory.getRuntimeMXBean().getStartTime() / 1e3;
    signals.gauge(
        "process_start_time_seconds",
        "Start time of the process, in seconds since 1970.",
        () -> startedSeconds);
    if (ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix) {
      signals.counters(
          "process_cpu_seconds_total",
          "CPU time that the process has used.",
          List.of(),
          readings -> readings.put(unix.getProcessCpuTime() / 1e9));
      signals.gauge(
          "process_open_fds",
          "Open file descriptors: files and connections.",
          unix::getOpenFileDescriptorCount);
      signals.gauge(
          "process_max_fds", "Limit of open file descriptors.", unix::getMaxFileDescriptorCount);
    }
  }

  private static void registerMemoryMetrics(Signals signals) {
    MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
    registerMemoryMetrics(
        signals, memory, "jvm_memory_used_bytes", "Memory in use", MemoryUsage::getUsed);
    registerMemoryMetrics(
        signals,
        memory,
        "jvm_memory_committed_bytes",
        "Memory committed by the system",
        MemoryUsage::getCommitted);
    // The JVM reports -1 for memory without a limit, as most memory outside the heap is.
    signals.gauge(
        "jvm_memory_heap_max_bytes",
        "Limit of the heap.",
        () -> memory.getHeapMemoryUsage().getMax());
    List<BufferPoolMXBean> pools = ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class);
    signals.gauge(
        "jvm_buffer_used_bytes",
        "Memory of direct buffers outside the heap, without those of the network library.",
        () -> pools.stream().mapToLong(BufferPoolMXBean::getMemoryUsed).sum());
  }

  private static void registerMemoryMetrics(
      Signals signals,
      MemoryMXBean memory,
      String name,
      String meaning,
      ToDoubleFunction<MemoryUsage> part) {
    signals.gauges(
        name,
        meaning + ".",
        List.of(Label.AREA),
        readings -> {
          readings.put(part.applyAsDouble(memory.getHeapMemoryUsage()), "heap");
          readings.put(part.applyAsDouble(memory.getNonHeapMemoryUsage()), "nonheap");
        });
  }

  private static void registerCollectionMetrics(Signals signals) {
    List<GarbageCollectorMXBean> collectors = ManagementFactory.getGarbageCollectorMXBeans();
    signals.counters(
        "jvm_gc_collections_total",
        "Garbage collections.",
        List.of(Label.COLLECTOR),
        readings -> collectors.forEach(c -> readings.put(c.getCollectionCount(), c.getName())));
    signals.counters(
        "jvm_gc_collection_seconds_total",
        "Time spent in garbage collections.",
        List.of(Label.COLLECTOR),
        readings ->
            collectors.forEach(c -> readings.put(c.getCollectionTime() / 1e3, c.getName())));
  }
}
