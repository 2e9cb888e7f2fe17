package dev.bourse.simulation;

import java.util.List;
import java.util.SplittableRandom;
import java.util.function.BiConsumer;

/** Operations of members on files. */
@SuppressWarnings("ImmutableEnumChecker") // lambdas without state.
enum UploadOperation implements PlanAction {
  /** A file is published or replaced in one request. */
  UPLOAD_DIRECT((world, random) -> world.uploads.upload(any(world, random), false, random)),

  /** A file is published or replaced in a session of many requests. */
  UPLOAD_SESSION((world, random) -> world.uploads.upload(any(world, random), true, random)),

  /** A file is read back. */
  READ_FILE((world, random) -> world.uploads.readers().read(any(world, random))),

  /** A file is deleted. */
  DELETE_FILE((world, random) -> world.uploads.readers().delete(any(world, random)));

  private final BiConsumer<World, SplittableRandom> what;

  UploadOperation(BiConsumer<World, SplittableRandom> what) {
    this.what = what;
  }

  @Override
  public void perform(World world, SplittableRandom random) {
    what.accept(world, random);
  }

  private static UploadPlace any(World world, SplittableRandom random) {
    List<String> ids = world.scale.organizationIds();
    List<String> names = UploadClients.names();
    return world.uploads.place(
        ids.get(random.nextInt(ids.size())), names.get(random.nextInt(names.size())));
  }
}
