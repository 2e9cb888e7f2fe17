package dev.bourse.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.schemas.vm.GpuMetricsJson;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Answers of tools stay below what clients take, and pages together lose no item. */
@Tag("fast")
class AnswerPartTest {
  private static JsonObject item(int index) {
    return new GpuMetricsJson(
            index, 100, 16_777_215, 16_777_215, 127, 32_767, 32_767, 32_767, 1L << 53, 1L << 53)
        .toTree();
  }

  @Test
  void pagesOfTenThousandGpusAreBoundedAndComplete() {
    List<Integer> read = new ArrayList<>();
    int after = -1;
    AnswerPart part;
    do {
      part = AnswerPart.of(IntStream.range(after + 1, 10_000).mapToObj(i -> item(i)).iterator());
      assertTrue(TokenEstimate.of(part.items().toBuffer()) < 25_000);
      part.items().forEach(item -> read.add(((JsonObject) item).getInteger("index")));
      if (part.isTruncated()) {
        after = Integer.parseInt(part.next("index"));
      }
    } while (part.isTruncated());
    assertEquals(IntStream.range(0, 10_000).boxed().toList(), read);
    assertNull(part.next("index"));
  }

  @Test
  void anItemThatIsTooLongAloneIsShownSoThatPagesGoOn() {
    JsonObject large = new JsonObject().put("text", "x ".repeat(20_000)).put("index", 7);
    AnswerPart part = AnswerPart.of(List.of(large, item(8)).iterator());
    assertEquals(new JsonArray().add(large), part.items());
    assertEquals("7", part.next("index"));
  }

  @Test
  void aTokenHasThreeLettersOrOneSign() {
    assertEquals(0, TokenEstimate.of(Buffer.buffer()));
    assertEquals(2 + 1 + 1 + 1 + 1, TokenEstimate.of(Buffer.buffer("null,97,0")));
    // Bytes of other scripts count one each.
    assertEquals(6, TokenEstimate.of(Buffer.buffer("日本")));
  }
}
