package dev.bourse.scrape;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.buffer.Buffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The text format of OpenMetrics, in bounded pieces. */
@Tag("fast")
class MetricsTextTest {
  private static List<Buffer> pieces(List<? extends MetricFamily<?>> families) {
    MetricsText text = new MetricsText(families);
    List<Buffer> pieces = new ArrayList<>();
    for (Optional<Buffer> next = text.next(); next.isPresent(); next = text.next()) {
      pieces.add(next.get());
    }
    return pieces;
  }

  @Test
  void aLabelCannotEndItsLine() {
    List<String> names = List.of("plain", "a\"b\\c\nbourse_x 1\n# EOF");
    MetricFamily<String> nodes =
        MetricFamily.counter(
            "bourse_errors",
            "Errors.",
            names,
            (name, out) -> {
              out.put(MetricFamily.labels("cluster", name, "node", "n"), "7");
              out.put("", null);
            });
    MetricFamily<String> money =
        MetricFamily.gauge(
            "bourse_dollars", "Money.", List.of("one"), (one, out) -> out.put("", "1"));
    assertEquals(
        """
        # TYPE bourse_errors counter
        # HELP bourse_errors Errors.
        bourse_errors_total{cluster="plain",node="n"} 7
        bourse_errors_total{cluster="a\\"b\\\\c\\nbourse_x 1\\n# EOF",node="n"} 7
        # TYPE bourse_dollars gauge
        # HELP bourse_dollars Money.
        bourse_dollars 1
        # EOF
        """,
        pieces(List.of(nodes, money)).get(0).toString());
    assertEquals(List.of(Buffer.buffer("# EOF\n")), pieces(List.of()));
  }

  @Test
  void oneHundredThousandSeriesAreWrittenInBoundedPieces() {
    List<Integer> nodes = IntStream.range(0, 12_500).boxed().toList();
    MetricFamily<Integer> family =
        MetricFamily.gauge(
            "bourse_gpu_power_watts",
            "Power.",
            nodes,
            (node, out) -> {
              for (int gpu = 0; gpu < 8; gpu++) {
                out.put(MetricFamily.labels("node", "n" + node, "gpu", "" + gpu), "642");
              }
            });
    List<Buffer> pieces = pieces(List.of(family, family));
    int most = MetricsText.PIECE_CHARS + 1_000;
    assertTrue(pieces.stream().allMatch(piece -> piece.length() < most));
    Buffer whole = Buffer.buffer();
    pieces.forEach(whole::appendBuffer);
    assertEquals(2 * (2 + 100_000) + 1, whole.toString().lines().count());
    assertEquals(200_000, whole.toString().lines().filter(l -> l.endsWith(" 642")).count());
  }
}
