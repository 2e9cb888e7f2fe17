package dev.bourse.hardware;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.capacity.Clusters;
import dev.bourse.core.ApiException;
import dev.bourse.pools.Switches;
import dev.bourse.schemas.vm.GpuMetricsJson;
import dev.bourse.schemas.vm.GpuSeriesJson;
import dev.bourse.schemas.vm.MetricSeriesJson;
import java.time.Clock;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Reports take a fixed amount of memory, and an unknown value is never 0. */
class HardwareMetricsTest {
  private static final int STEP = NodeSeries.STEP_SECONDS * 1_000;

  private long now = 1_782_000_000_000L;

  private HardwareMetrics metrics(long maxBytes) {
    return new HardwareMetrics(
        new Clusters(new Switches(true, true, true), Clock.systemUTC()),
        () -> now,
        () -> now * 1_000_000,
        maxBytes);
  }

  private static GpuMetricsJson gpu(int index, @Nullable Integer utilization) {
    return new GpuMetricsJson(
        index, utilization, utilization, 81_559, utilization, utilization, null, 32_767, 0L, null);
  }

  private static List<GpuMetricsJson> node(int gpus, int utilization) {
    return IntStream.range(0, gpus).mapToObj(index -> gpu(index, utilization)).toList();
  }

  @Test
  void tenThousandAgentsTakeNoMoreThanTheBound() {
    int bytes = new NodeSeries(8).bytes();
    assertEquals(21_900, bytes);
    HardwareMetrics metrics = metrics(100L * bytes);
    for (int round = 0; round < 3; round++) {
      for (int node = 0; node < 10_000; node++) {
        metrics.report("alc_" + node, 8, node(8, node % 100));
      }
      assertTrue(metrics.nodes() <= 100, () -> metrics.nodes() + " series");
      now += STEP;
    }
    now += 3_600_000;
    assertEquals(0, metrics.nodes(), "an hour of silence");
  }

  @Test
  void aRingKeepsAnHourHoweverOftenItsNodeReports() {
    NodeSeries node = new NodeSeries(1);
    long begin = now / STEP * STEP;
    for (int report = 0; report < 1_000; report++) {
      node.record(List.of(gpu(0, report % 7)), begin + report * (STEP / 4L));
    }
    now = begin + 999 * (STEP / 4L);
    MetricSeriesJson hour = node.lastHour(now);
    assertEquals(now / STEP * STEP / 1_000, hour.t0() + 119L * hour.step());
    List<?> kept = hour.gpus().get(0).utilizationPercent();
    assertEquals(120, kept.size());
    // The last report of each interval is the fourth.
    assertEquals(List.of(995 % 7, 999 % 7), kept.subList(118, 120));
    assertEquals(520 + 3 - 7 * 74, kept.get(0), "the interval of an hour ago");
  }

  @Test
  void whatNobodyReportedIsNullAndNeverZero() {
    NodeSeries node = new NodeSeries(2);
    node.record(List.of(gpu(1, 0)), now);
    assertEquals(List.of(NodeSeries.unknown(2).get(0), gpu(1, 0)), node.latest(now));
    GpuSeriesJson missing = node.lastHour(now).gpus().get(0);
    GpuSeriesJson idle = node.lastHour(now).gpus().get(1);
    for (List<?> values :
        List.of(
            missing.utilizationPercent(),
            missing.memoryUsedMib(),
            missing.temperatureC(),
            missing.powerW(),
            missing.smClockMhz(),
            missing.memoryClockMhz(),
            missing.eccCorrected(),
            idle.smClockMhz(),
            idle.eccUncorrected())) {
      values.forEach(value -> assertNull(value));
    }
    assertEquals(0, idle.utilizationPercent().get(119));
    assertEquals(32_767, idle.memoryClockMhz().get(119));
    assertEquals(0, idle.eccCorrected().get(119));
    assertNull(idle.utilizationPercent().get(118));
    // A node that is silent is not idle, and neither is one from whose report the clock went back.
    for (long later : List.of(120_001L, -120_001L)) {
      assertEquals(NodeSeries.unknown(2), node.latest(now + later));
    }
    assertNull(node.lastHour(now + 3_600_000).gpus().get(1).utilizationPercent().get(119));
    assertNull(node.lastHour(now - 3_600_000).gpus().get(1).utilizationPercent().get(119));
  }

  @Test
  void moreErrorsThanASampleHoldsAreItsMost() {
    NodeSeries node = new NodeSeries(1);
    long most = 9_007_199_254_740_991L;
    node.record(
        List.of(new GpuMetricsJson(0, null, null, null, null, null, null, null, 7L, most)), now);
    assertEquals(most, node.latest(now).get(0).eccUncorrected());
    GpuSeriesJson hour = node.lastHour(now).gpus().get(0);
    assertEquals(7, hour.eccCorrected().get(119));
    assertEquals(Integer.MAX_VALUE, hour.eccUncorrected().get(119));
  }

  @Test
  void aNodeCannotReportMoreGpusThanItHas() {
    HardwareMetrics metrics = metrics(1 << 20);
    ApiException more =
        assertThrows(ApiException.class, () -> metrics.report("alc_1", 8, List.of(gpu(8, 1))));
    assertTrue(more.detail().contains("index 8 is not below 8"), more.detail());
    ApiException twice =
        assertThrows(
            ApiException.class, () -> metrics.report("alc_1", 8, List.of(gpu(1, 1), gpu(1, 2))));
    assertTrue(twice.detail().contains("index 1 is repeated"), twice.detail());
    assertEquals(0, metrics.nodes());
  }
}
