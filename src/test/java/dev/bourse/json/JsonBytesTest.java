package dev.bourse.json;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.bourse.core.Price;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** JSON written without a tree. */
@Tag("fast")
class JsonBytesTest {
  private static final int OBJECTS = 2_000;

  @Test
  void whatIsWrittenIsWhatTheTreeWouldBe() {
    Random random = new Random(5);
    for (int i = 0; i < OBJECTS; i++) {
      JsonBytes bytes = new JsonBytes();
      JsonObject tree = new JsonObject();
      fill(bytes, tree, random, 3);
      assertEquals(tree.toBuffer().toString(), new String(bytes.toBytes(), StandardCharsets.UTF_8));
    }
  }

  private static void fill(JsonBytes bytes, JsonObject tree, Random random, int depth) {
    int fields = random.nextInt(8);
    for (int i = 0; i < fields; i++) {
      String name = i + text(random);
      switch (random.nextInt(depth > 0 ? 5 : 2)) {
        case 0, 1 -> {
          Object value = value(random);
          bytes.put(name, value);
          tree.put(name, value);
        }
        case 2 -> {
          JsonObject object = new JsonObject();
          bytes.object(name, inner -> fill(inner, object, random, depth - 1));
          tree.put(name, object);
        }
        case 3 -> {
          JsonArray objects = new JsonArray();
          List<JsonRecord> items = new ArrayList<>();
          for (int item = 0; item < random.nextInt(4); item++) {
            JsonObject object = new JsonObject();
            JsonBytes ignored = new JsonBytes();
            long seed = random.nextLong();
            fill(ignored, object, new Random(seed), depth - 1);
            items.add(inner -> fill(inner, new JsonObject(), new Random(seed), depth - 1));
            objects.add(object);
          }
          bytes.objects(name, items);
          tree.put(name, objects);
        }
        default -> {
          List<@Nullable Object> values = Arrays.asList(text(random), null, value(random));
          bytes.values(name, values);
          tree.put(name, new JsonArray(values));
        }
      }
    }
  }

  private static @Nullable Object value(Random random) {
    return switch (random.nextInt(6)) {
      case 0 -> null;
      case 1 -> random.nextBoolean();
      case 2 -> random.nextInt();
      case 3 -> random.nextLong();
      case 4 -> Price.toUsd(random.nextLong(1L << 53) >> random.nextInt(53));
      default -> text(random);
    };
  }

  /** Random characters: ones that JSON escapes, and ones of one to four bytes. */
  private static String text(Random random) {
    int[] points = {'a', '"', '\\', '/', '\n', 0, 0x1f, 0x7f, 'é', '€', 0x2028, 0x1f600};
    StringBuilder text = new StringBuilder();
    random
        .ints(random.nextInt(6), 0, points.length)
        .forEach(at -> text.appendCodePoint(points[at]));
    return text.toString();
  }

  @Test
  void whatJsonHasNoWordForIsRefused() {
    JsonBytes bytes = new JsonBytes();
    assertEquals(
        "price is a java.util.Random",
        assertThrows(IllegalArgumentException.class, () -> bytes.put("price", new Random()))
            .getMessage());
  }
}
