"""Images that pods run by a tag which may mean another tomorrow, live, by pydantic models."""

import asyncio

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from listwatch import Client, decoder_for


class Model(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, frozen=True)


class Metadata(Model):  # a store needs these four
    name: str
    namespace: str
    uid: str
    resource_version: str


class Container(Model):
    image: str

    @property
    def is_pinned(self) -> bool:
        return "@sha256:" in self.image


class Spec(Model):
    containers: tuple[Container, ...]


class Pod(Model):
    metadata: Metadata
    spec: Spec


def added(pod: Pod, in_initial_list: bool) -> None:
    for container in pod.spec.containers:
        if not container.is_pinned:
            print(f"{pod.metadata.namespace}/{pod.metadata.name}: {container.image}")


async def main() -> None:
    async with Client() as client:
        pods = client.informer("pods", decoder=decoder_for(Pod))
        pods.add_handler(on_add=added)
        await pods.run()


asyncio.run(main())
