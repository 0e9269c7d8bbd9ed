"""A made-up engine in a few files, laid out as SGLang is: enough of every shape that a scan has to follow.

Nothing here is anybody's code. Builders take the few lines in which versions and forks differ.
"""

from textwrap import dedent, indent

PLUS_ONE = "[number + 1 for number in layer_ids]"
FIRST_IS_ONE = "[n + 1 for n in layer_ids] if layer_ids and layer_ids[0] == 1 else list(layer_ids)"
MAX_IS_DEPTH = (
    "list(layer_ids) if layer_ids and max(layer_ids) == self.config.num_hidden_layers else [n + 1 for n in layer_ids]"
)
GUARDED = "hidden_states + residual if residual is not None else hidden_states"
UNGUARDED = "hidden_states + residual"


def text_model(
    *, ids: str = PLUS_ONE, value: str = GUARDED, rank_check: bool = True, after_loop: str = "", name: str = "Oak"
) -> str:
    """Return a file with a text model whose setter fills a list that the forward pass compares with layer numbers."""
    check = "if not self.pp_group.is_last_rank:\n            return" if rank_check else "pass"
    return dedent(f"""
        from torch import nn
        from sglang.srt.distributed import get_pp_group
        from sglang.srt.layers.layernorm import RMSNorm
        from sglang.srt.utils import make_layers


        class {name}Layer(nn.Module):
            def forward(self, positions, hidden_states, residual):
                return hidden_states, residual


        class {name}Model(nn.Module):
            def __init__(self, config, quant_config=None, prefix=""):
                super().__init__()
                self.pp_group = get_pp_group()
                self.layers, self.start_layer, self.end_layer = make_layers(config.num_hidden_layers, {name}Layer)
                self.norm = RMSNorm(config.hidden_size)
                self.layers_to_capture = []

            def forward(self, input_ids, positions, forward_batch, input_embeds=None):
                hidden_states = self.embed_tokens(input_ids) if input_embeds is None else input_embeds
                residual = None
                taken = []
                for i in range(self.start_layer, self.end_layer):
                    if i in self.layers_to_capture:
                        taken.append({value})
                    hidden_states, residual = self.layers[i](positions, hidden_states, residual)
                {after_loop or "pass"}
                if forward_batch.is_odd:
                    hidden_states = None
                hidden_states, _ = self.norm(hidden_states, residual)
                if not taken:
                    return hidden_states
                return hidden_states, taken


        class {name}ForCausalLM(nn.Module):
            def __init__(self, config, quant_config=None, prefix=""):
                super().__init__()
                self.config = config
                self.pp_group = get_pp_group()
                self.model = {name}Model(config, quant_config)

            def set_eagle3_layers_to_capture(self, layer_ids=None):
                {indent(check, "        ").strip()}
                self.capture_aux_hidden_states = True
                if layer_ids is None:
                    n = self.config.num_hidden_layers
                    self.model.layers_to_capture = [2, n // 2, n - 3]
                else:
                    self.model.layers_to_capture = {ids}

            def set_dflash_layers_to_capture(self, layer_ids):
                if layer_ids is None:
                    raise ValueError("ids are needed")
                self.model.layers_to_capture = [number + 1 for number in layer_ids]

            def get_embed_and_head(self):
                return self.model.embed_tokens.weight, self.lm_head.weight

            def set_embed_and_head(self, embed, head):
                self.model.embed_tokens.weight = embed


        EntryClass = [{name}ForCausalLM]
    """)


MARKING_MODEL = dedent("""
    from torch import nn
    from sglang.srt.distributed import get_pp_group
    from sglang.srt.layers.aux_hidden_states import AuxHiddenStateList
    from sglang.srt.models.oak import OakForCausalLM


    class ElmModel(nn.Module):
        def __init__(self, config):
            self.layers = nn.ModuleList([config for _ in range(config.num_hidden_layers)])

        def set_eagle3_layers_to_capture(self, numbers):
            self.layers_to_capture = numbers
            for number in self.layers_to_capture:
                setattr(self.layers[number], "_is_layer_to_capture", True)

        def forward(self, input_ids, positions, forward_batch, input_embeds=None):
            hidden_states = input_embeds
            taken = AuxHiddenStateList()
            for i in range(len(self.layers)):
                layer = self.layers[i]
                hidden_states = layer(
                    positions,
                    hidden_states,
                    captured_last_layer_outputs=taken if getattr(layer, "_is_layer_to_capture", False) else None,
                )
            if len(taken) == 0:
                return hidden_states
            return hidden_states, taken


    class ElmForCausalLM(OakForCausalLM):
        def __init__(self, config, quant_config=None, prefix=""):
            nn.Module.__init__(self)
            self.config = config
            self.pp_group = get_pp_group()
            self.model = ElmModel(config)

        def set_eagle3_layers_to_capture(self, layer_ids=None):
            if not self.pp_group.is_last_rank:
                return
            if layer_ids is None:
                n = self.config.num_hidden_layers
                self.model.set_eagle3_layers_to_capture([2, n // 2, n - 3])
            else:
                self.model.set_eagle3_layers_to_capture([number + 1 for number in layer_ids])


    EntryClass = ElmForCausalLM
""")
"""Marks layers instead of comparing numbers, so that calls add up and indexes can fail."""


def wrapper_model(*, methods: bool) -> str:
    """Return a file with a wrapper around the text model, with its three methods or without."""
    body = """
            def set_eagle3_layers_to_capture(self, layer_ids=None):
                if not hasattr(self.language_model, "set_eagle3_layers_to_capture"):
                    raise AttributeError("the language model cannot capture")
                self.language_model.set_eagle3_layers_to_capture(layer_ids)

            def get_embed_and_head(self):
                return self.language_model.get_embed_and_head()

            def set_embed_and_head(self, embed, head):
                self.language_model.set_embed_and_head(embed, head)
    """
    return dedent(f"""
        from torch import nn
        from sglang.srt.models.oak import OakForCausalLM


        class OakVisionForConditionalGeneration(nn.Module):
            def __init__(self, config, quant_config=None, prefix="", **kwargs):
                super().__init__()
                self.config = config
                if not config.encoder_only:
                    self.language_model = OakForCausalLM(config.text_config, quant_config)
            {body if methods else ""}

        EntryClass = OakVisionForConditionalGeneration
    """)


RUNNER_TOO_LATE = dedent("""
    class ModelRunner:
        def initialize(self):
            self.init_device_graphs()
            if self.spec_algorithm.is_eagle3():
                try:
                    eagle_config = getattr(draft_model_config.hf_config, "eagle_config", None)
                    eagle_aux_hidden_state_layer_ids = eagle_config["eagle_aux_hidden_state_layer_ids"]
                except:
                    eagle_aux_hidden_state_layer_ids = None
                self.model.set_eagle3_layers_to_capture(eagle_aux_hidden_state_layer_ids)
""")
"""Sets the ids after graphs were captured, and knows no switch."""

RUNNER_IN_TIME = dedent("""
    class ModelRunner:
        def __init__(self, draft_model_config):
            if self.spec_algorithm.is_eagle3():
                self.eagle_use_aux_hidden_state = True
                try:
                    eagle_config = getattr(draft_model_config.hf_config, "eagle_config", None)
                    self.eagle_use_aux_hidden_state = eagle_config.get("use_aux_hidden_state", True)
                    self.eagle_aux_hidden_state_layer_ids = eagle_config["eagle_aux_hidden_state_layer_ids"]
                except Exception:
                    self.eagle_aux_hidden_state_layer_ids = None

        def initialize(self):
            self.init_aux_hidden_state_capture()
            self.init_device_graphs()

        def init_aux_hidden_state_capture(self):
            self.model.set_eagle3_layers_to_capture(self.eagle_aux_hidden_state_layer_ids)
""")

GRAPH_RUNNER = dedent("""
    class CudaGraphRunner:
        def __init__(self, model_runner):
            model_runner.model.set_eagle3_layers_to_capture()
            self.capture()
""")

WORKER = dedent("""
    class Worker:
        def __init__(self):
            embed, head = self.target_worker.model_runner.model.get_embed_and_head()
            self.draft_model_runner.model.set_embed_and_head(embed, head)
""")

DRAFT = dedent("""
    import copy
    import logging
    import re
    import torch
    from torch import nn
    from sglang.srt.layers.layernorm import RMSNorm
    from sglang.srt.layers.linear import ColumnParallelLinear, QKVParallelLinear

    logger = logging.getLogger(__name__)


    def tap_count(config):
        chosen = getattr(config, "eagle_config", None) or {}
        ids = chosen.get("eagle_aux_hidden_state_layer_ids")
        if ids is None:
            ids = getattr(config, "eagle_aux_hidden_state_layer_ids", None)
        return 3 if ids is None else len(ids)


    class Attention(nn.Module):
        def __init__(self, config):
            super().__init__()
            self.qkv_proj = QKVParallelLinear(2 * config.hidden_size, bias=False)
            self.o_proj = ColumnParallelLinear(config.hidden_size, bias=config.attention_bias)


    class Mlp(nn.Module):
        def __init__(self, config):
            super().__init__()
            self.gate_up_proj = ColumnParallelLinear(config.hidden_size, bias=False)
            self.down_proj = ColumnParallelLinear(config.hidden_size, bias=False)


    class Layer(nn.Module):
        def __init__(self, config):
            super().__init__()
            self.self_attn = Attention(config)
            self.mlp = Mlp(config)
            self.hidden_norm = RMSNorm(config.hidden_size)
            self.input_layernorm = RMSNorm(config.hidden_size)
            self.post_attention_layernorm = RMSNorm(config.hidden_size)


    class Body(nn.Module):
        def __init__(self, config):
            super().__init__()
            self.embed_tokens = VocabEmbedding(config.vocab_size)
            self.taps = tap_count(config)
            self.fc = nn.Linear(config.hidden_size * self.taps, config.hidden_size, bias=getattr(config, "bias", False))
            self.fc_norm = None
            if getattr(config, "fc_norm", False):
                self.fc_norm = nn.ModuleList([RMSNorm(config.hidden_size) for _ in range(self.taps)])
            if config.num_hidden_layers != 1:
                raise ValueError("one layer only")
            self.midlayer = Layer(config)
            self.norm = RMSNorm(config.hidden_size)

        def forward(self, embeds, hidden_states):
            if hidden_states.shape[-1] != embeds.shape[-1]:
                hidden_states = self.fc(hidden_states)
            return hidden_states


    class OakForCausalLMEagle3(nn.Module):
        def __init__(self, config, quant_config=None, prefix=""):
            super().__init__()
            self.config = config
            self.model = Body(config)
            self.load_lm_head_from_target = False
            if config.draft_vocab_size is None:
                self.load_lm_head_from_target = True
            self.lm_head = Head(config.hidden_size)
            self.hot_token_id = None

        def load_weights(self, weights):
            params = dict(self.named_parameters())
            stacked = [
                (".qkv_proj", ".q_proj", "q"),
                (".qkv_proj", ".k_proj", "k"),
                (".qkv_proj", ".v_proj", "v"),
                (".gate_up_proj", ".gate_proj", 0),
                (".gate_up_proj", ".up_proj", 1),
            ]
            for name, tensor in weights:
                if name == "d2t":
                    self.hot_token_id = tensor + torch.arange(tensor.shape[0])
                    continue
                if name == "t2d":
                    continue
                name = re.sub(r"^layers\\.0\\.", "midlayer.", name)
                if not name.startswith("lm_head."):
                    name = f"model.{name}"
                for new, old, shard in stacked:
                    if old in name and name.replace(old, new) in params:
                        param = params[name.replace(old, new)]
                        param.weight_loader(param, tensor, shard)
                        break
                else:
                    if name not in params:
                        logger.warning("unexpected %s", name)
                        continue
                    param = params[name]
                    getattr(param, "weight_loader", default_loader)(param, tensor)


    EntryClass = [OakForCausalLMEagle3]
""")

SERVER_ARGS = dedent("""
    class ServerArgs:
        speculative_algorithm: str = None
        speculative_num_steps: int = None
        speculative_accept_threshold_acc: float = 1.0
        skip_server_warmup: bool = False

        @staticmethod
        def add_cli_args(parser):
            parser.add_argument("--speculative-algorithm", choices=["EAGLE", "EAGLE3"])
            parser.add_argument("--disable-cuda-graph", action="store_true")
""")

HTTP_SERVER = dedent("""
    def execute_server_warmup(server_args):
        try:
            request()
        except Exception:
            kill_process_tree(pid)
""")

REGISTRY = 'PACKAGE = os.environ.get("SGLANG_EXTERNAL_MODEL_PACKAGE")\n'


def engine(**files: str) -> dict[str, str]:
    """Return the whole engine; `files` replaces or adds files by their short names (`oak`, `vision`, `runner`, ...)."""
    short = {
        "oak": "sglang/srt/models/oak.py",
        "elm": "sglang/srt/models/elm.py",
        "vision": "sglang/srt/models/vision.py",
        "draft": "sglang/srt/models/oak_eagle3.py",
        "registry": "sglang/srt/models/registry.py",
        "runner": "sglang/srt/model_executor/model_runner.py",
        "graph_runner": "sglang/srt/model_executor/cuda_graph_runner.py",
        "worker": "sglang/srt/speculative/eagle_worker.py",
        "server_args": "sglang/srt/server_args.py",
        "http_server": "sglang/srt/entrypoints/http_server.py",
    }
    texts = {
        "oak": text_model(),
        "elm": MARKING_MODEL,
        "vision": wrapper_model(methods=True),
        "draft": DRAFT,
        "registry": REGISTRY,
        "runner": RUNNER_IN_TIME,
        "worker": WORKER,
        "server_args": SERVER_ARGS,
        "http_server": HTTP_SERVER,
    }
    return {short.get(name, name): text for name, text in {**texts, **files}.items()}
