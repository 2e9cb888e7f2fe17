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
 * What the process takes of its machine, by the names that dashboards for Java know: those of
 * Prometheus' own clients.
 */
public final class ProcessSignals {
  private ProcessSignals() {}

  /**
   * Shows them.
   *
   * @param version the program's
   */
  public static void show(Signals signals, String version) {
    signals.fact("bourse_build_info", "Which version of the program runs.", Label.VERSION, version);
    showMemory(signals);
    showCollections(signals);
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    signals.gauge("jvm_threads_current", "Threads that live.", threads::getThreadCount);
    ClassLoadingMXBean classes = ManagementFactory.getClassLoadingMXBean();
    signals.gauge(
        "jvm_classes_currently_loaded", "Classes that are loaded.", classes::getLoadedClassCount);
    double startedSeconds = ManagementFactory.getRuntimeMXBean().getStartTime() / 1e3;
    signals.gauge(
        "process_start_time_seconds",
        "When the process was started, in seconds since 1970.",
        () -> startedSeconds);
    if (ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix) {
      signals.counters(
          "process_cpu_seconds_total",
          "Time of cores that the process has used.",
          List.of(),
          readings -> readings.put(unix.getProcessCpuTime() / 1e9));
      signals.gauge(
          "process_open_fds",
          "Files and connections the process has open.",
          unix::getOpenFileDescriptorCount);
      signals.gauge(
          "process_max_fds",
          "Files and connections the process may have open.",
          unix::getMaxFileDescriptorCount);
    }
  }

  private static void showMemory(Signals signals) {
    MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
    showMemory(signals, memory, "jvm_memory_used_bytes", "Memory in use", MemoryUsage::getUsed);
    showMemory(
        signals,
        memory,
        "jvm_memory_committed_bytes",
        "Memory taken of the system",
        MemoryUsage::getCommitted);
    // Without a bound, which other memory has as a rule, the machine tells -1.
    signals.gauge(
        "jvm_memory_heap_max_bytes",
        "The most that the heap may come to.",
        () -> memory.getHeapMemoryUsage().getMax());
    List<BufferPoolMXBean> pools = ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class);
    signals.gauge(
        "jvm_buffer_used_bytes",
        "Memory outside the heap that buffers take, but for the network library's.",
        () -> pools.stream().mapToLong(BufferPoolMXBean::getMemoryUsed).sum());
  }

  private static void showMemory(
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

  private static void showCollections(Signals signals) {
    List<GarbageCollectorMXBean> collectors = ManagementFactory.getGarbageCollectorMXBeans();
    signals.counters(
        "jvm_gc_collections_total",
        "Collections of garbage.",
        List.of(Label.COLLECTOR),
        readings -> collectors.forEach(c -> readings.put(c.getCollectionCount(), c.getName())));
    signals.counters(
        "jvm_gc_collection_seconds_total",
        "Time that collections of garbage have taken.",
        List.of(Label.COLLECTOR),
        readings ->
            collectors.forEach(c -> readings.put(c.getCollectionTime() / 1e3, c.getName())));
  }
}
