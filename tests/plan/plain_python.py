import os
os.path.join("a", "b"); ",".join(["a"]); [1].count(1); {}.get("collect")  #> silent
class Repo:
    def collect(self): ...
Repo().collect()  #> silent
from django.db import models
models.User.objects.filter(a=1).count()  #> silent
